"""Frequent words of languages in Latin letters, from which `detect.py` knows them.

Each list is in rough order of frequency: first the small words that stand in every sentence, then
everyday words with the endings and the letter sequences that are typical. Other scripts are in
`scripts.py`.
"""

from __future__ import annotations

__all__ = ["LATIN"]

LATIN: dict[str, str] = {
    "en": """the of and to a in is it you that he was for on are with as i his they be at one
        have this from or had by not but what some we can out other were all there when up your
        how said an each she which do their if will way about many then them would so these her
        him has more no could than been who its now my made over did down only find use may long
        little very after our just where most know get through back much before right too any
        same tell why didn't don't it's i'm doesn't isn't please thanks hello good morning new
        first people man woman child dog house water school street time year day night work
        world life hand part eye place week thing things something nothing always never think
        want give come going looking make take see because should might while between again
        every friend money language question answer student teacher children wearing standing
        walking playing young old""",
    "de": """der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als
        auch es an werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über
        einen so zum war haben nur oder aber vor zur bis mehr durch man sein wurde sei ich du
        wir ihr mich dir mir uns kann habe bin bist was wenn schon ja nein hier da dann doch
        sehr immer nichts wieder gegen vom können unter diese dieser dieses wo warum wer welche
        jetzt ohne weil zwischen alle mein dein unser kein keine muss soll will hatte ihn ihm
        möchte heute morgen gestern bitte danke gut guten neue groß klein schön jahr jahre tag
        zeit mann frau kind kinder hund haus wasser schule straße leute menschen leben arbeit
        welt hand stadt freund sprache frage geht gehen gehört gesagt gemacht machen kommen
        sehen wissen glauben brauchen steht spielt trägt junge mädchen zeitung regierung möglich
        während würde müssen jemand etwas ging lesen""",
    "fr": """de la le et les des en un du une est que dans qui pour il au par sur plus pas ne se
        ce sont avec ont être son sa ses je tu vous nous elle ils elles mais ou où si leur cette
        ces comme fait été tout tous était aux même aussi bien sans peut deux après entre encore
        avait dont moi toi lui mon ma mes ton votre notre quand quoi comment pourquoi parce très
        rien jamais toujours déjà ici là alors donc c'est j'ai n'est qu'il d'une l'a n'a s'est
        d'un l'homme faire dire aller voir avoir suis es sommes êtes merci bonjour oui non jour
        temps année homme femme enfant enfants chien maison eau école rue gens vie travail monde
        main ville ami langue question chose choses grand petit petite nouveau nouvelle bonne
        beau heure matin soir aujourd'hui demain hier beaucoup trop peu vais veux veut sait
        savoir pouvoir prendre étudiant livre voiture jeune français pays gouvernement""",
    "es": """de la que el en y a los se del las un por con no una su para es al lo como más o
        pero sus le ha me si sin sobre este ya entre cuando todo esta ser son dos también fue
        había era muy años hasta desde está mi porque qué sólo han yo hay vez puede todos así
        nos ni parte tiene él uno donde bien tiempo mismo ese ahora cada vida otro después te
        otros aunque esa eso hace otra tan durante siempre día tanto ella tres sí quién cómo
        dónde usted ustedes ellos nosotros estoy estás están soy eres tengo quiero hacer decir
        ver ir saber gracias hola buenos días hombre mujer niño niña perro casa agua escuela
        calle gente trabajo mundo mano ciudad amigo lengua pregunta cosa nada nunca algo alguien
        hoy mañana ayer noche bueno nuevo grande pequeño mucho poco estudiante libro coche joven
        español país gobierno corazón nación hablar comer vivir""",
    "it": """di e il la che in un a per è una non sono del con si da le come i al dei nel della
        più anche lo ma alla gli ha questo o delle io mi se ci suo sua ho tra dal era cosa tutto
        dove quando molto hanno chi perché quello lui lei loro noi voi tu ti mio mia tuo nostro
        essere fare stato stata sia solo dopo due anni prima ancora sempre già così bene qui là
        c'è l'ha dell'anno un'altra all'inizio poi ogni senza sulla alle nella degli questa
        quella niente nulla mai oggi domani ieri grazie ciao buongiorno prego sì no uomo donna
        bambino bambini ragazzo ragazza cane casa acqua scuola strada gente vita lavoro mondo
        mano città amico lingua domanda tempo giorno notte buono nuovo grande piccolo bello
        vecchio giovane vuole voglio posso può andare vedere dire sapere avere mangiare leggere
        studente libro macchina italiano paese governo""",
    "pt": """de a o que e do da em um para é com não uma os no se na por mais as dos como mas
        foi ao ele das tem à seu sua ou ser quando muito há nos já está eu também só pelo pela
        até isso ela entre era depois sem mesmo aos ter seus quem nas me esse eles estão você
        tinha foram essa num nem suas meu às minha têm numa pelos elas havia seja qual será nós
        tenho lhe deles estas este dele tu te vocês nosso não então aqui onde porque por quê
        como isto tudo nada nunca sempre hoje amanhã ontem obrigado olá bom dia boa noite homem
        mulher menino menina criança cão cachorro casa água escola rua gente vida trabalho mundo
        mão cidade amigo língua pergunta coisa tempo ano anos novo grande pequeno velho jovem
        quero posso pode fazer dizer ver ir saber comer livro carro estudante português país
        governo informação nação coração estou são""",
    "nl": """de van een het en in is dat op te zijn met voor niet aan er die als hij ik je om
        ook dan maar bij nog uit ze naar door over wat werd was we heeft hebben had of kan
        worden wordt deze dit meer geen tot zou al hun mijn jij jullie wij zij hem haar ons u
        mij mijn jouw zo wel veel moet kunnen want zal tegen na waar wie hoe waarom wanneer hier
        daar nu altijd nooit iets niets iemand iedereen alleen weer onder tussen zonder omdat
        moeten willen wil gaan ga gaat komen komt doen doet zien weten weet zeggen zei maken dag
        goed goede groot grote klein nieuw nieuwe oud jong mooi jaar tijd man vrouw kind
        kinderen jongen meisje hond huis water school straat mensen leven werk wereld hand stad
        vriend taal vraag ding vandaag morgen gisteren dank bedankt hallo alstublieft boek auto
        student regering mogelijk gezegd gemaakt zien leuk lijk spreken""",
    "sv": """och i att det som en på är av för med den till inte han de ett var jag men om har
        vi så från kan när år man hon nu sig ska efter där vid ut upp hade bara då vad över få
        mig dig också två skulle eller blir bli än mot mycket varit här någon något några alla
        allt sin sina hans hennes min din vår dem oss er du ni kommer måste vill varför hur vem
        vilken eftersom mellan under utan aldrig alltid ingen inget igen redan idag imorgon igår
        tack hej ja nej god gott bra stor stora liten små ny nya gammal ung vacker tid dag man
        kvinna barn pojke flicka hund hus vatten skola gata människor liv arbete värld hand stad
        vän språk fråga sak gå går göra gör säga säger se ser veta vet komma äta läsa bok bil
        student lärare regering möjlig tycker förstår själv""",
    "da": """og i at det er en til på som af for de med den der ikke har han jeg et var vi men
        om så kan sig fra skal du nu ud hun vil også blev være havde mig her når op man efter
        hvad ved over eller da bliver end noget meget kun ham mod dig alle hvor hvorfor hvordan
        hvem mellem uden under aldrig altid ingen intet igen allerede i dag morgen går tak hej
        ja nej god godt stor store lille små ny nye gammel ung smuk tid dag år mand kvinde barn
        børn dreng pige hund hus vand skole gade mennesker folk liv arbejde verden hånd by ven
        sprog spørgsmål ting gå gør gøre sige siger se ser vide ved komme kommer spise læse bog
        bil studerende lærer regering mulig synes forstår selv blive bare lidt nogle deres
        hendes hans min din vores os jeres måtte kunne skulle ville fordi selvom nødvendigt uge""",
    "no": """og i det er på som en at for til med av ikke de har han jeg var den et om vi men så
        kan fra seg skal du nå ut hun vil også ble være hadde meg her når opp etter hva ved over
        eller da blir enn noe mye bare ham mot deg alle hvor hvorfor hvordan hvem mellom uten
        under aldri alltid ingen ingenting igjen allerede dag morgen går takk hei ja nei god
        godt bra stor store liten små ny nye gammel ung vakker tid år mann kvinne barn gutt
        jente hund hus vann skole gate mennesker folk liv arbeid verden hånd by venn språk
        spørsmål ting gå gjør gjøre si sier se ser vite vet komme kommer spise lese bok bil
        student lærer regjering mulig synes forstår selv bli litt noen deres hennes hans min din
        vår oss dere måtte kunne skulle ville fordi uke ikkje eg ein kva hvis""",
    "fi": """ja on ei se että hän oli en joka mutta kun ovat kuin niin myös tai olen sen minä
        sinä me te he mitä tämä mukaan nyt vain hyvin jos ole ollut jo sitä jälkeen siitä voi
        kaikki kanssa vielä hänen minun sinun meidän heidän mikä missä miksi miten kuka milloin
        siellä täällä tässä koska vaikka aina koskaan mitään jotain joku kukaan paljon vähän
        enemmän ennen kiitos hei kyllä hyvä hyvää huomenta uusi suuri pieni vanha nuori kaunis
        vuosi vuonna vuoden päivä aika mies nainen lapsi lapset poika tyttö koira talo vesi
        koulu katu ihmiset ihminen elämä työ maailma käsi kaupunki ystävä kieli kysymys asia
        tänään huomenna eilen mennä menee tehdä tekee sanoa sanoi nähdä tietää tiedän tulla
        tulee syödä lukea kirja auto opiskelija opettaja hallitus mahdollista haluan pitää
        täytyy olla olisi ovatko minulla sinulla hänellä suomen kielen talossa kaupungissa""",
    "pl": """i w nie się z na do to że jest o a jak po co tak za ale od czy jego już być ja by
        są był tylko przez była gdy dla ten ma ze może tym było może pan mnie jej przed ich lub
        kiedy jeszcze tego mi ty my wy on ona ono oni pod gdzie dlaczego kto który która które
        bardzo teraz tutaj tam zawsze nigdy nic coś ktoś wszystko wszyscy bo ponieważ więc jeśli
        też również bez między mój twój nasz swój jestem jesteś jesteśmy mam masz mamy chcę chce
        muszę musi można będzie mogę dziękuję dzień dobry proszę cześć tak dobrze nowy duży mały
        stary młody piękny rok lat czas człowiek mężczyzna kobieta dziecko dzieci chłopiec
        dziewczyna pies dom woda szkoła ulica ludzie życie praca świat ręka miasto przyjaciel
        język pytanie rzecz dziś jutro wczoraj iść robić mówić powiedział wiedzieć wiem widzieć
        jeść czytać książka samochód student nauczyciel rząd możliwe polski""",
    "cs": """a se v na je že s z to do o k i ve ale si po za by jako pro jsem od tak co jeho aby
        jen nebo když byl už podle jak před při které který která bylo být než která kde proč
        kdo kdy jsou byla také není má mít může tím až jeho její jejich tento tato toto ten ta
        já ty my vy on ona oni mě mi tě ho mu nás vás jim velmi teď tady tam vždy nikdy nic něco
        někdo všechno všichni protože pokud bez mezi můj tvůj náš svůj jsi jste jsme mám máš
        chci chce musí musím bude budu mohu děkuji dobrý den prosím ahoj ano ne dobře nový velký
        malý starý mladý krásný rok let čas člověk muž žena dítě děti chlapec dívka pes dům voda
        škola ulice lidé život práce svět ruka město přítel jazyk otázka věc dnes zítra včera
        jít dělat říci řekl vědět vím vidět jíst číst kniha auto student učitel vláda možné
        český při kteří""",
    "sk": """a sa v na je že s z to do o k i vo ale si po za by ako pre som od tak čo jeho aby
        len alebo keď bol už podľa pred pri ktoré ktorý ktorá bolo byť než kde prečo kto kedy sú
        bola tiež nie má mať môže tým až jej ich tento táto toto ten tá ja ty my vy on ona oni
        ma mi ťa ho mu nás vás im veľmi teraz tu tam vždy nikdy nič niečo niekto všetko všetci
        pretože ak bez medzi môj tvoj náš svoj ste sme mám máš chcem chce musí musím bude budem
        môžem ďakujem dobrý deň prosím ahoj áno dobre nový veľký malý starý mladý krásny rok
        rokov čas človek muž žena dieťa deti chlapec dievča pes dom voda škola ulica ľudia život
        práca svet ruka mesto priateľ jazyk otázka vec dnes zajtra včera ísť robiť povedať
        povedal vedieť viem vidieť jesť čítať kniha auto študent učiteľ vláda možné slovenský
        iba každý""",
    "hu": """a az és hogy nem is egy ez meg volt van csak de el mint már ki még azt fel ha be én
        ezt sem kell lehet vagy mert minden ő te mi ti ők itt ott most majd aki ami amely mit
        hol miért hogyan mikor nagyon jól igen nincs vannak voltak lesz lenne lett után előtt
        alatt között nélkül szerint által való ezek azok engem téged minket nekem neked neki
        nekünk mindig soha semmi valami valaki senki mindenki több kevés sok köszönöm jó napot
        reggelt kérem szia új nagy kis régi fiatal öreg szép év évek idő ember férfi nő gyerek
        gyermek fiú lány kutya ház víz iskola utca emberek élet munka világ kéz város barát
        nyelv kérdés dolog ma holnap tegnap menni megy csinál mond mondta tud tudom lát jön
        eszik olvas könyv autó diák tanár kormány lehetséges magyar vagyok akarok szeretném
        hanem pedig ezért azonban olyan ilyen házban városban""",
    "ro": """de și în a la cu pe nu o un că este din care să se mai pentru ce sunt au fost al
        ale ca sau dar am lui ai ei îl îi le prin după până acest această acesta fi era despre
        cum când unde cine de ce foarte tot toate toți el ea eu tu noi voi ele mă te ne vă mi
        îmi îți lor meu mea tău nostru său sa aici acolo acum atunci mereu niciodată nimic ceva
        cineva nimeni fără între pentru că dacă însă deci doar chiar avea are aveam poate pot
        trebuie vreau vrea mulțumesc bună ziua dimineața vă rog da nou mare mic vechi tânăr
        frumos an ani timp om bărbat femeie copil copii băiat fată câine casă apă școală stradă
        oameni viață muncă lume mână oraș prieten limbă întrebare lucru azi astăzi mâine ieri
        merge face spune spus ști știu vedea veni mânca citi carte mașină student profesor
        guvern posibil română țară orașul copilul omul""",
    "tr": """ve bir bu da de için ile çok o ne ben daha var gibi kadar olarak olan mi mı değil
        sen biz siz onlar sonra en ama her şey şu ya ki olduğu bana sana ona beni seni onu onun
        benim senin bizim yok ise diye veya ancak hem önce şimdi burada orada nerede neden nasıl
        kim zaman hiç bütün tüm bazı iki üç oldu olur olmak oluyor etti etmek ediyor eder yapmak
        yaptı yapıyor gitmek gitti gidiyor gelmek geldi geliyor görmek dedi söyledi biliyorum
        istiyorum lazım gerek teşekkür ederim merhaba günaydın lütfen evet hayır iyi güzel yeni
        büyük küçük eski genç yıl gün insan insanlar adam kadın çocuk çocuklar oğlan kız köpek
        ev su okul sokak hayat iş dünya el şehir arkadaş dil soru bugün yarın dün yemek okumak
        kitap araba öğrenci öğretmen hükümet mümkün türkçe içinde üzerinde tarafından arasında
        göre karşı değildir evde okula""",
    "id": """yang dan di itu dengan untuk tidak ini dari dalam akan pada juga saya ke karena
        tersebut bisa ada mereka lebih kata tahun sudah atau saat oleh menjadi orang ia telah
        adalah seperti sebagai bahwa dapat para harus namun kita dua satu masih hari hanya
        mengatakan kepada kami setelah melakukan lalu belum lain dia kalau terjadi banyak
        menurut anda hingga tak baru beberapa ketika saja jalan sekitar secara dilakukan
        sementara tapi sangat hal sehingga seorang bagi besar lagi selama antara waktu sebuah
        jika sampai kamu aku apa siapa mengapa kenapa bagaimana kapan dimana sini sana sekarang
        selalu pernah sesuatu semua terima kasih selamat pagi siang tolong ya bukan baik bagus
        kecil tua muda indah manusia pria wanita anak laki perempuan anjing rumah air sekolah
        kehidupan pekerjaan dunia tangan kota teman bahasa pertanyaan besok kemarin pergi
        membuat melihat tahu datang makan membaca buku mobil mahasiswa guru pemerintah mungkin
        indonesia ingin""",
    "vi": """và của là có không cho một trong được người các với những này đã tôi đến khi để
        cũng như anh ở ra vào từ nhiều về lại thì năm làm trên nhưng đó sẽ phải ông chị em cô
        bạn họ nó chúng ta mình hơn rất nhất đi ngày nhà mà nếu vì theo thế nào gì ai đâu tại
        sao bao giờ bây đang còn chỉ rồi sau trước giữa cùng mỗi mọi tất cả hai ba bị nên hay
        hoặc biết muốn cần thể nói thấy đến ăn đọc học viết xem xin cảm ơn chào vui lòng vâng
        tốt mới lớn nhỏ cũ trẻ đẹp thời gian con đàn phụ nữ trẻ trai gái chó nước trường đường
        phố cuộc sống việc thế giới tay thành bạn bè tiếng câu hỏi điều hôm nay mai qua sách xe
        sinh viên giáo chính phủ việt nam quốc gia thành phố đẹp yêu thích""",
    "ca": """de la i que el a en les un per els amb no una es del és al va ha més com dels si
        seu seva són també però ser aquest aquesta van s'ha d'un l'any jo tu ell ella nosaltres
        vosaltres ells què qui on quan perquè molt tot tots ja hi ho em et ens us li han estat
        fer està dos anys fins sense entre sobre després ara aquí sempre mai res alguna cosa
        avui demà ahir nit gràcies bon dia si us plau home dona nen nena gos casa aigua escola
        carrer gent vida feina món mà ciutat amic llengua pregunta nou gran petit jove vell
        llibre cotxe vull puc pot dir veure anar saber menjar català govern país això així només
        abans tenen tinc""",
    "gl": """de a o que e en do da un para é con non unha os no se na por máis as dos como pero
        foi ao el das ten seu súa ou ser cando moi hai nos xa está eu tamén só polo pola ata
        isto ela entre era despois sen mesmo aos ter quen me ese eles están ti tiña foron esa
        nin miña meu onde porque qué nada nunca sempre hoxe mañá onte grazas ola bo día boa
        noite home muller neno nena can casa auga escola rúa xente vida traballo mundo man
        cidade amigo lingua pregunta cousa tempo ano anos novo grande pequeno vello mozo quero
        podo pode facer dicir ver ir saber comer libro coche galego goberno unhas uns dunha
        nunha""",
    "af": """die en van in het is 'n nie wat dat vir met op te was hy ek om aan jy ons sy hulle
        as ook maar by na word sal kan nog deur of my uit daar hier waar hoe hoekom wanneer wie
        baie meer geen alles iets niks altyd nooit omdat tussen sonder moet wil gaan kom doen
        sien weet sê maak dag goeie goed groot klein nuwe ou jong mooi jaar tyd man vrou kind
        kinders seun meisie hond huis water skool straat mense lewe werk wêreld hand stad vriend
        taal vraag ding vandag môre gister dankie hallo asseblief boek motor regering moontlik
        hierdie daardie gesê gemaak haar hom julle""",
    "is": """og að í á er sem það ekki til hann var um við með en af fyrir hún því ég þú eru eða
        frá hefur þeir þau þetta hafa vera verið svo upp eftir mér þér sig sér hér þar nú hvað
        hver hvar hvers vegna hvernig mjög allt allir alltaf aldrei eitthvað ekkert milli án
        takk góðan dag já nei góður nýr stór lítill gamall ungur ár dagur tími maður kona barn
        drengur stúlka hundur hús vatn skóli gata fólk líf vinna heimur hönd borg vinur tungumál
        spurning í dag gær fara gera segja sjá vita koma borða lesa bók bíll""",
    "et": """ja on ei et ta see oli ma ka kui mis aga oma ning seda selle või siis kes mida nii
        kuid ole olnud olen sa me te nad tema minu sinu meie nende kus miks kuidas millal väga
        nüüd siin seal alati kunagi midagi keegi kõik palju vähe rohkem enne pärast koos ilma
        vahel sest aitäh tere jah hea uus suur väike vana noor ilus aasta päev aeg mees naine
        laps lapsed poiss tüdruk koer maja vesi kool tänav inimesed inimene elu töö maailm käsi
        linn sõber keel küsimus asi täna homme eile minna teha ütles näha tean tulla süüa lugeda
        raamat auto üliõpilane õpetaja valitsus võimalik eesti saab peab võib""",
    "lv": """un ir ka par no uz ar to es viņš kas ne tas bet arī kā vai pēc līdz tā lai bija nav
        būs vēl jau tikai tu mēs jūs viņi viņa man tev mums savu mans kur kāpēc kad kā ļoti
        tagad šeit tur vienmēr nekad nekas kaut kāds visi viss daudz starp bez tāpēc ja gan šo
        šis šī var varētu jābūt paldies labdien lūdzu jā labs jauns liels mazs vecs skaists gads
        gadā gadu diena laiks cilvēks vīrietis sieviete bērns bērni zēns meitene suns māja ūdens
        skola iela cilvēki dzīve darbs pasaule roka pilsēta draugs valoda jautājums lieta šodien
        rīt vakar iet darīt teikt redzēt zināt nākt ēst lasīt grāmata valdība iespējams latvijas""",
    "lt": """ir yra kad į iš su tai kaip bet ne jis aš buvo nuo dar jau apie po už ar taip pat
        per arba tik tu mes jūs jie ji jos jo mano tavo savo kur kodėl kada kas labai dabar čia
        ten visada niekada nieko kažkas visi viskas daug tarp be todėl jei šis ši tas kuris kuri
        kurie gali būti turi reikia ačiū laba diena prašau geras naujas didelis mažas senas
        jaunas gražus metai metų metais laikas žmogus vyras moteris vaikas vaikai berniukas
        mergaitė šuo namas vanduo mokykla gatvė žmonės gyvenimas darbas pasaulis ranka miestas
        draugas kalba klausimas dalykas šiandien rytoj vakar eiti daryti sakyti sakė matyti
        žinoti žinau ateiti valgyti skaityti knyga automobilis studentas mokytojas vyriausybė
        galima lietuvos""",
    "sl": """in je v na da se za so z ne pa ki s kot tudi po bi pri od do o ali ni še bil sem ko
        ter več lahko že jih ga ti iz samo tako kaj kje zakaj kdo kdaj jaz mi vi on ona oni me
        te mu nas vas zelo zdaj tukaj tam vedno nikoli nič nekaj nekdo vse vsi ker če brez med
        moj tvoj naš svoj si smo ste imam hočem mora moram bo bom hvala dober dan prosim zdravo
        dobro nov velik majhen star mlad lep leto let čas človek mož moški ženska otrok otroci
        fant dekle pes hiša voda šola ulica ljudje življenje delo svet roka mesto prijatelj
        jezik vprašanje stvar danes jutri včeraj iti delati reči rekel vedeti vem videti jesti
        brati knjiga avto študent učitelj vlada mogoče slovenski kateri katera bilo bila""",
    "hr": """i u je na se da za su od s a o iz kao ne što koji će do bi sam ali po li to ili
        samo te već koja koje nije bio bila bilo biti nego pri dok kad kada gdje zašto tko kako
        ja ti mi vi on ona oni me mu ga ih nas vas vrlo sada sad ovdje tamo uvijek nikad ništa
        nešto netko sve svi jer ako bez između moj tvoj naš svoj si smo ste imam hoću želim mora
        moram može mogu hvala dobar dan molim bok dobro nov velik mali star mlad lijep godina
        godine vrijeme čovjek muškarac žena dijete djeca dječak djevojka pas kuća voda škola
        ulica ljudi život posao svijet ruka grad prijatelj jezik pitanje stvar danas sutra jučer
        ići raditi reći rekao znati znam vidjeti jesti čitati knjiga auto student učitelj vlada
        moguće hrvatski kojeg svoje""",
    "sq": """e të në i për me një që nga është nuk si më se u do ka ishte janë por edhe ose kjo
        ky atë tij saj unë ti ai ajo ne ju ata mua ty çfarë kush ku pse kur shumë tani këtu atje
        gjithmonë kurrë asgjë diçka dikush të gjithë gjithçka sepse nëse pa midis kam ke kemi
        duhet mund dua dëshiroj faleminderit mirë mirëdita ju lutem po jo i ri madh vogël vjetër
        bukur vit vjet ditë kohë njeri burrë grua fëmijë djalë vajzë qen shtëpi ujë shkollë
        rrugë njerëz jetë punë botë dorë qytet mik gjuhë pyetje gjë sot nesër dje shkoj bëj them
        tha shoh di vij ha lexoj libër makinë student mësues qeveri mundur shqip""",
    "eu": """eta da ez zen bat du ere dira hau baina ziren izan zuen egin dute den dela hori
        baino oso bere dago ni zu gu haiek nire zure gure zer nor non zergatik noiz nola orain
        hemen han beti inoiz ezer zerbait norbait guztiak dena asko gutxi gabe artean behar nahi
        dut duzu dugu naiz zara gara eskerrik asko kaixo egun on mesedez bai ona berria handia
        txikia zaharra gaztea ederra urte urtean denbora gizon emakume haur mutil neska txakur
        etxe etxea ur eskola kale jende bizitza lan mundu esku hiri lagun hizkuntza galdera
        gauza gaur bihar atzo joan esan ikusi jakin etorri jan irakurri liburu irakasle gobernu
        euskal herri direla zuten""",
    "eo": """la de kaj en estas ne mi al vi ke por li ĝi kun ŝi pri kiu kio sed estis el per sur
        ili tio tiu ĉi povas havas pli tre kiel se ĉu jes ni oni lia mia via nia sia ilia ŝia
        kie kial kiam nun tie ĉiam neniam nenio io iu ĉiuj ĉio multaj multe sen inter ĉar aŭ
        ankaŭ jam ankoraŭ nur devas volas dankon bonan tagon saluton bonvolu bona nova granda
        malgranda maljuna juna bela jaro tempo tago homo viro virino infano infanoj knabo
        knabino hundo domo akvo lernejo strato homoj vivo laboro mondo mano urbo amiko lingvo
        demando afero hodiaŭ morgaŭ hieraŭ iri fari diri diris vidi scias veni manĝi legi libro
        aŭto studento instruisto esperanto""",
    "ga": """an agus na a i ar is tá le go ag do bhí sé ní mé tú sí muid siad é iad seo sin leis
        nach ach mar gur bhfuil raibh de ó chun ann faoi nuair cad cé cá cathain conas cén fáth
        anseo ansin anois i gcónaí riamh rud rudaí gach níl beidh bheith déanamh dul teacht rá
        dúirt maith mhaith go raibh agat dia duit le do thoil nua mór beag sean óg álainn bliain
        lá am duine daoine fear bean páiste leanaí buachaill cailín madra teach uisce scoil
        sráid saol obair domhan lámh cathair cara teanga ceist inniu amárach inné leabhar carr
        múinteoir rialtas gaeilge éireann mo aon dhá trí""",
    "cy": """y yn a i o ar mae ei wedi am yr ac fel eu gan hyn oedd ond na bod nid ni chi fi hi
        nhw fy dy eich ein hwn hon sydd roedd oes dim ddim beth pwy ble pam pryd sut nawr yma
        yno bob byth rhywbeth pawb llawer rhwng heb achos os neu hefyd rhaid eisiau diolch bore
        da helo os gwelwch da newydd mawr bach hen ifanc hardd blwyddyn flwyddyn dydd amser dyn
        menyw plentyn plant bachgen merch ci tŷ dŵr ysgol stryd pobl bywyd gwaith byd llaw dinas
        ffrind iaith cwestiwn peth heddiw yfory ddoe mynd gwneud dweud gweld gwybod dod bwyta
        darllen llyfr car athro llywodraeth cymru cymraeg""",
    "ms": """yang dan di itu dengan untuk tidak ini dari dalam akan pada juga saya ke kerana
        tersebut boleh ada mereka lebih kata tahun sudah atau oleh menjadi orang ia telah adalah
        seperti sebagai bahawa dapat para perlu namun kita dua satu masih hari hanya kepada kami
        selepas lalu belum lain dia kalau berlaku banyak menurut anda hingga tak baru beberapa
        apabila sahaja jalan secara sangat hal sehingga seorang bagi besar lagi antara masa
        waktu sebuah jika awak aku apa siapa mengapa bagaimana bila mana sini sana sekarang
        selalu pernah sesuatu semua terima kasih selamat pagi petang tolong ya bukan baik kecil
        tua muda cantik manusia lelaki wanita budak perempuan anjing rumah air sekolah kehidupan
        kerja dunia tangan bandar kawan bahasa soalan esok semalam pergi membuat melihat tahu
        datang makan membaca buku kereta pelajar guru kerajaan mungkin melayu malaysia hendak
        mahu""",
    "tl": """ang ng sa na mga at ay ni si ko mo niya siya ako ikaw ka kami tayo kayo sila hindi
        ito iyan iyon para may mayroon wala kung kapag dahil o pero ngunit rin din lang lamang
        pa nang isang isa dalawa ano sino saan bakit kailan paano dito doon ngayon palagi lahat
        marami kanyang kaniyang aking iyong ating aming kanilang nito nasa mula hanggang maaari
        gusto kailangan salamat magandang umaga kumusta opo oo mabuti bago malaki maliit matanda
        bata maganda taon araw oras tao lalaki babae bata batang aso bahay tubig paaralan kalye
        buhay trabaho mundo kamay lungsod kaibigan wika tanong bagay bukas kahapon pumunta
        gumawa sinabi makita alam kumain magbasa aklat kotse mag-aaral guro pamahalaan pilipino""",
    "sw": """ya na wa kwa ni katika la za kuwa hii ambayo si cha huo huu hiyo yake yangu wake
        kama lakini au pia baada kila watu mtu wengi mimi wewe yeye sisi ninyi wao nini nani
        wapi kwa nini lini vipi sasa hapa pale daima kamwe kitu kitu wote vyote sana bila kati
        sababu ikiwa ana nina una tuna wana alikuwa ilikuwa walikuwa lazima anaweza nataka
        asante habari jambo tafadhali ndiyo hapana nzuri mpya kubwa dogo zee kijana mwaka siku
        wakati mwanaume mwanamke mtoto watoto mvulana msichana mbwa nyumba maji shule barabara
        maisha kazi dunia mkono mji rafiki lugha swali leo kesho jana kwenda kufanya kusema
        alisema kuona kujua kuja kula kusoma kitabu gari mwanafunzi mwalimu serikali kiswahili
        tanzania""",
    "az": """və bir bu da də üçün ilə çox o nə mən daha var kimi qədər olaraq olan mi deyil sən
        biz siz onlar sonra ən amma hər şey ki olduğu mənə sənə ona məni səni onu onun mənim
        sənin bizim yox isə və ya ancaq həm əvvəl indi burada orada harada niyə necə kim zaman
        heç bütün bəzi iki üç oldu olur olmaq etdi etmək edir edən getmək getdi gəlmək gəldi
        görmək dedi bilirəm istəyirəm lazımdır təşəkkür edirəm salam zəhmət olmasa bəli xeyr
        yaxşı gözəl yeni böyük kiçik köhnə gənc il gün insan insanlar adam kişi qadın uşaq
        uşaqlar oğlan qız it ev su məktəb küçə həyat iş dünya əl şəhər dost dil sual bu gün
        sabah dünən yemək oxumaq kitab maşın tələbə müəllim hökumət mümkün azərbaycan tərəfindən
        arasında görə edilir""",
}
"""Language code to its words; Bosnian and Serbian in Latin letters read as Croatian."""
